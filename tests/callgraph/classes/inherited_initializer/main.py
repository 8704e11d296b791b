class Base:
    def __init__(self):
        self.setup()
    def setup(self):
        pass
class A(Base):
    def setup(self):
        pass
A()

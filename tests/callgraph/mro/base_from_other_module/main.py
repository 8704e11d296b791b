from base import Base
class A(Base):
    def step(self):
        pass
A().run()

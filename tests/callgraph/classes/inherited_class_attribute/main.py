class Base:
    kind = None
    def make(self):
        return self.kind()
class Item:
    def __init__(self):
        pass
class A(Base):
    kind = Item
A().make()

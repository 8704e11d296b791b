class A:
    @classmethod
    def make(cls):
        return cls()
class B(A):
    @classmethod
    def make(cls):
        return super().make()
    def __init__(self):
        pass
B.make()

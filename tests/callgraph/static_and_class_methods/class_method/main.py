class A:
    @classmethod
    def make(cls):
        return cls()
    def f(self):
        pass
class B(A):
    def f(self):
        pass
B.make().f()

class A:
    def f(self):
        pass
class B:
    def f(self):
        pass
    def g(self):
        pass
class C(A, B):
    pass
C().f()
C().g()

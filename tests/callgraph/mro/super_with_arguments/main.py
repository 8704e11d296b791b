class A:
    def f(self):
        pass
class B(A):
    def f(self):
        pass
class C(B):
    def f(self):
        super(B, self).f()
C().f()

class A:
    def f(self):
        pass
class B(A):
    pass
class C(A):
    def f(self):
        pass
class D(B, C):
    pass
D().f()

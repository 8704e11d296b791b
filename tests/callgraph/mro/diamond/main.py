class A:
    def f(self):
        pass
class B(A):
    def f(self):
        super().f()
class C(A):
    def f(self):
        super().f()
class D(B, C):
    def f(self):
        super().f()
D().f()

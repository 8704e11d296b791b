class A:
    def f(self):
        pass
class B(A):
    def f(self):
        def inner():
            super(B, self).f()
        inner()
B().f()

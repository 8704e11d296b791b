class A:
    def f(self):
        self.g()
    def g(self):
        pass
A.f(A())

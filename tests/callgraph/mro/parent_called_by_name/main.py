class A:
    def __init__(self):
        self.f()
    def f(self):
        pass
class B(A):
    def __init__(self):
        A.__init__(self)
B()

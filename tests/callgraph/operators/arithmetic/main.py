class A:
    def __add__(self, other):
        return f
    def __radd__(self, other):
        return g
    def __iadd__(self, other):
        return self
def f():
    pass
def g():
    pass
(A() + 1)()
(1 + A())()
a = A()
a += 1

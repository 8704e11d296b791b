class A:
    def __getitem__(self, key):
        return f
    def __setitem__(self, key, value):
        value()
def f():
    pass
def g():
    pass
a = A()
a["k"]()
a["k"] = g

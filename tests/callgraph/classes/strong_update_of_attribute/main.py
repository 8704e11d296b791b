def f():
    pass
def g():
    pass
class A:
    pass
a = A()
a.run = f
a.run = g
a.run()

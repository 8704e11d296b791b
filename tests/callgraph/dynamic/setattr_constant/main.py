def f():
    pass
class A:
    pass
a = A()
setattr(a, "run", f)
a.run()

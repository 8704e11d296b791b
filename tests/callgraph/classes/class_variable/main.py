def f():
    pass
class A:
    handler = staticmethod(f)
A.handler()
A().handler()

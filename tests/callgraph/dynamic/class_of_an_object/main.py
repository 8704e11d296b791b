class A:
    def __init__(self):
        pass
    def copy(self):
        return type(self)()
    def clone(self):
        return self.__class__()
    def f(self):
        pass
A().copy().f()
A().clone().f()

class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)
class A(metaclass=Meta):
    def __init__(self):
        pass
    def f(self):
        pass
A().f()

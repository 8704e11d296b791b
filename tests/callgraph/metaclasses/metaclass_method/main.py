class Meta(type):
    def make(cls):
        return cls()
class A(metaclass=Meta):
    def f(self):
        pass
A.make().f()

class A:
    def __new__(cls):
        self = super().__new__(cls)
        self.setup()
        return self
    def setup(self):
        pass
    def f(self):
        pass
A().f()

class A:
    @property
    def value(self):
        return 1
    @value.setter
    def value(self, new):
        check(new)
def check(new):
    pass
def run():
    a = A()
    a.value = 2
run()

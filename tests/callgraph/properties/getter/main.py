class A:
    @property
    def value(self):
        return self.compute()
    def compute(self):
        return 1
def run():
    return A().value
run()

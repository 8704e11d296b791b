class A:
    def __init__(self, n):
        self.n = n
    def step(self):
        return self.helper()
    def helper(self):
        return self.n
a = A(1)
a.step()

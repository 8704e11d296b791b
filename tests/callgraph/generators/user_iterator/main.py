class Tasks:
    def __init__(self):
        self.left = 1
    def __iter__(self):
        return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left = 0
        return f
def f():
    pass
for task in Tasks():
    task()

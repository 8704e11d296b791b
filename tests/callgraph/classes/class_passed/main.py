class A:
    def __init__(self):
        pass
def create(cls):
    return cls()
create(A)

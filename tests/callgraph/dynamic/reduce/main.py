from functools import reduce
def add(a, b):
    return a + b
reduce(add, [1, 2, 3])

def make():
    return 1
class A:
    value = make()

def double(x):
    return x * 2
def make():
    return map(double, [1])
def use():
    for item in make():
        print(item)
use()

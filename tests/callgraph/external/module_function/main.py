import os.path
import json as j
from math import sqrt as root
def f():
    os.path.join("a", "b")
    j.dumps({})
    root(4)
f()

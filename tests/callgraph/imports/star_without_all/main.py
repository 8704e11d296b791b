from tools import *
f()

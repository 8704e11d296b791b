from tools import *
f()
hidden()

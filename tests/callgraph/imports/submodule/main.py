import pack.sub.mod
import pack.sub.mod as short
pack.sub.mod.f()
short.f()

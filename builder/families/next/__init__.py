"""Next: which passage follows another one?"""

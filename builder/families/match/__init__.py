"""Match: which paper belongs to which masked citation?"""

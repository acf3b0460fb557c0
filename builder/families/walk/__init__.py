"""Walk: which papers cite a work where the question says?"""

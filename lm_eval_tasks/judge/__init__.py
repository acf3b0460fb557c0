"""LLM-as-a-judge over saved samples: five dimensions and an overall winner (section 4.4 and appendix D.5 of the paper).

Every generated text is compared with its reference in both orders. A win counts 1, a loss in both orders 0, and a
disagreement between the two orders 0.5: position bias moves rates towards 0.5.
"""

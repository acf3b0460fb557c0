"""The families of tasks: one folder each, described for `builder.families.registry`; what several share lies beside them."""

"""The families of tasks: one folder each, described for `builder.dataset.families`; what several share lies beside them."""

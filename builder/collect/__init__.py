"""Records of a source -> the papers of a round and their co-author graph."""

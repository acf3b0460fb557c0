"""Articles in JATS, the Journal Article Tag Suite (https://jats.nlm.nih.gov): what their files say of them, and folders of them."""

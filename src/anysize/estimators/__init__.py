"""scikit-learn compatible classifiers and transformers."""

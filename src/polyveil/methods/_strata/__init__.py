"""What the methods share that build classes from strata of sensitive values: fcm, pca, swap, fragment."""

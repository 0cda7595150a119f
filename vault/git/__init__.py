"""The vault's history in git, and what is read of other repositories. Nothing of a vault or repository is run."""

"""The study `giph`: relocations by GiPH, its ablations and plain placers on changing clusters."""

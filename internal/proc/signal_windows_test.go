package proc_test

func ignoreTerm() {}

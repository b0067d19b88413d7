/** Exit code of `certify` when cases were not reached and none failed. */
export const NOT_REACHED = 2

/** Exit code of `hunt` and `drift` when too little was searched or compared to say that all is well. */
export const INCOMPLETE = 3

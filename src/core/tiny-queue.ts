import Default from 'tinyqueue'

/** A queue that gives the least item first. */
export type TinyQueue<T> = Default<T>

// In the bundle, which is CommonJS, the default export of an ES module is a property of the module.
const { default: inside } = Default as { readonly default?: typeof Default }

export const TinyQueue: typeof Default = inside ?? Default

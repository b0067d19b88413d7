import type { Action, Invocation } from './invocation.ts'
import type { OptionName } from './options.ts'

/** One command: how it is called, and where its code is, which is loaded only when it runs. */
export interface CommandDeclaration {
  /** `clock advance` is the command `advance` below `clock`. */
  readonly name: string
  readonly says: string
  /** In the notation of commander: `<needed>`, `[optional]`, `[several...]`, each with its meaning. */
  readonly args: readonly { readonly name: string; readonly says: string }[]
  readonly options: readonly OptionName[]
  /** What follows its name, where commander cannot make that of the arguments and options. */
  readonly usage?: string
  /** What its help says of an option instead of what the table of all options says. */
  readonly help?: OptionHelp
  readonly load: () => Promise<(invocation: Invocation) => Promise<number>>
}

type OptionHelp = { readonly [N in OptionName]?: { readonly says?: string; readonly shown?: string } }

/** Declares a command; its action is given the values of these options and no others. */
export function command<N extends OptionName>(declaration: {
  readonly name: string
  readonly says: string
  readonly args?: CommandDeclaration['args']
  readonly options: readonly N[]
  readonly usage?: string
  readonly help?: OptionHelp
  readonly load: () => Promise<Action<N>>
}): CommandDeclaration {
  // An invocation with the values of these options is all that the action reads.
  return { args: [], ...declaration, load: declaration.load as CommandDeclaration['load'] }
}

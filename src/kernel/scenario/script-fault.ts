/** Something that a script of the user's has got wrong. It is told to the user; nothing is wrong with the emulator. */
export class ScriptFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ScriptFault'
  }
}

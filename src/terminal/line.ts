export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** A text that has a style where the terminal shows colours. */
export class Styled {
  readonly style: Style
  readonly text: string

  constructor(style: Style, text: string) {
    this.style = style
    this.text = text
  }
}

export function styled(style: Style, text: string): Styled {
  return new Styled(style, text)
}

/** Aligned columns. In a terminal they are fitted to its width. */
export interface TextTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | Styled)[])[]
}

/** One line of a result: a text, parts of a text, or a table, which has several lines. */
export type Line = string | Styled | TextTable | readonly (string | Styled)[]

/** How lines are shown: with colours or without, fitted to a width or not. */
export interface Screen {
  readonly colours: boolean
  readonly width?: number | undefined
}

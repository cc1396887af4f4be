// What is told of reading a project's artifacts.

/** What was found of the user's project, or why not all of it. */
export type ArtifactsEvent =
  | {
      readonly event: 'artifacts'
      readonly contracts: number
      readonly place: string
      /** Names of those that are new or others than they were, or gone; undefined where there were none before. */
      readonly changed?: readonly string[] | undefined
    }
  | { readonly event: 'artifacts'; readonly warning: string }

/** The same, or what has a project read that is not. */
export type ProjectEvent = ArtifactsEvent | ProjectHint

export interface ProjectHint {
  readonly event: 'artifacts'
  readonly hint: string
  readonly flag: string
}

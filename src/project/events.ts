// Events from reading a project's artifacts.

export type ArtifactsEvent =
  | {
      readonly event: 'artifacts'
      readonly contracts: number
      readonly place: string
      /** Names of new, changed or removed contracts; undefined on the first reading. */
      readonly changed?: readonly string[] | undefined
    }
  | { readonly event: 'artifacts'; readonly warning: string }

export type ProjectEvent = ArtifactsEvent | ProjectHint

export interface ProjectHint {
  readonly event: 'artifacts'
  readonly hint: string
  readonly flag: string
}

/** An answer that is not a success. `errors` has the reasons by field when the status is 422. */
export class CarteiraError extends Error {
  override readonly name = "CarteiraError";

  constructor(
    readonly status: number,
    message: string,
    /** Quote it when you ask the operator about the call. */
    readonly requestId: string | null,
    readonly errors: Readonly<Record<string, readonly string[]>> = {},
  ) {
    super(message);
  }
}

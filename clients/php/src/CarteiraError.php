<?php

declare(strict_types=1);

namespace Carteira;

/** An answer that is not a success. $errors has the reasons by field when the status is 422. */
final class CarteiraError extends \RuntimeException
{
    /** @param array<string, list<string>> $errors */
    public function __construct(
        public readonly int $status,
        string $message,
        public readonly array $errors = [],
        /** Quote it when you ask the operator about the call. */
        public readonly ?string $requestId = null,
    ) {
        parent::__construct($message, $status);
    }
}

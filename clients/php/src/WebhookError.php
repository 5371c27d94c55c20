<?php

declare(strict_types=1);

namespace Carteira;

/** A request that is not from the installation, or not an event. $status is what to answer with. */
final class WebhookError extends \RuntimeException
{
    public function __construct(public readonly int $status, string $message)
    {
        parent::__construct($message, $status);
    }
}

#include "host/os/http_flow.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
namespace {

constexpr std::string_view kMasked = "***";

std::vector<SecretMask> masks_for(const HttpRequest& request) {
    std::vector<SecretMask> masks;
    for (const HttpDestination& to : request.approved) {
        if (!to.secret.empty()) {
            masks.emplace_back(to.secret);
        }
    }
    return masks;
}

}  // namespace

std::string SecretMask::take(std::string_view bytes) {
    std::string text = std::exchange(kept_, {});
    text.append(bytes);
    std::string out;
    std::size_t begin = 0;
    for (std::size_t at = text.find(secret_); at != std::string::npos;
         at = text.find(secret_, begin)) {
        out.append(text, begin, at - begin).append(kMasked);
        begin = at + secret_.size();
    }
    // The longest end of the text that the secret may go on from.
    std::size_t kept = std::min(secret_.size() - 1, text.size() - begin);
    while (kept > 0 && text.compare(text.size() - kept, kept, secret_, 0, kept) != 0) {
        --kept;
    }
    out.append(text, begin, text.size() - kept - begin);
    kept_ = text.substr(text.size() - kept);
    return out;
}

HttpFlow::HttpFlow(const HttpRequest& request, std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      masks_(masks_for(request)),
      upload_(request.body),
      keeps_upload_(!request.body_follows),
      upload_last_(!request.body_follows) {}

void HttpFlow::notify_locked() const {
    if (!cancelled_ && on_change_) {
        on_change_();
    }
}

std::optional<Result<HttpHead>> HttpFlow::head() const {
    const std::lock_guard guard(mutex_);
    if (head_) {
        return *head_;
    }
    return ended_ && error_ ? std::optional<Result<HttpHead>>(*error_) : std::nullopt;
}

std::optional<Result<std::string>> HttpFlow::take(std::size_t max, bool& resumes) {
    const std::lock_guard guard(mutex_);
    const std::size_t waiting = body_.size() - body_begin_;
    if (waiting == 0) {
        if (!ended_) {
            return std::nullopt;
        }
        return error_ ? Result<std::string>(*error_) : Result<std::string>(std::string());
    }
    std::string out = body_.substr(body_begin_, max);
    body_begin_ += out.size();
    if (body_begin_ == body_.size()) {
        body_.clear();
        body_begin_ = 0;
    } else if (body_begin_ > kHighWater) {
        body_.erase(0, std::exchange(body_begin_, 0));
    }
    if (paused_ && body_.size() - body_begin_ <= kLowWater) {
        paused_ = false;
        resumes = true;
    }
    return out;
}

Result<bool> HttpFlow::offer(std::string_view bytes, bool last, bool& resumes) {
    const std::lock_guard guard(mutex_);
    if (ended_) {
        // A server may answer before it has read everything, and then reads no more.
        return error_ ? Result<bool>(*error_) : Result<bool>(true);
    }
    if (upload_last_) {
        return Error(Errc::invalid, "the request's body has ended already");
    }
    const std::size_t waiting = upload_.size() - upload_begin_;
    if (waiting != 0 && waiting + bytes.size() > HttpClient::kMaxWaiting) {
        return false;
    }
    upload_.append(bytes);
    upload_last_ = last;
    resumes = std::exchange(upload_starved_, false);
    return true;
}

void HttpFlow::cancel() {
    const std::lock_guard guard(mutex_);
    cancelled_ = true;
    on_change_ = {};
    if (!ended_) {
        ended_ = true;
        error_ = Error(Errc::cancelled, "the request was cancelled");
    }
}

void HttpFlow::set_head(HttpHead head) {
    const std::lock_guard guard(mutex_);
    head_ = std::move(head);
    notify_locked();
}

bool HttpFlow::add_body(std::string_view bytes) {
    const std::lock_guard guard(mutex_);
    std::string passed(bytes);
    for (SecretMask& mask : masks_) {
        passed = mask.take(passed);
    }
    body_ += passed;
    paused_ = body_.size() - body_begin_ > kHighWater;
    notify_locked();
    return paused_;
}

void HttpFlow::end(std::optional<Error> error) {
    const std::lock_guard guard(mutex_);
    if (std::exchange(ended_, true)) {
        return;
    }
    for (std::size_t i = 0; i < masks_.size(); ++i) {
        std::string rest = masks_[i].rest();
        for (std::size_t next = i + 1; next < masks_.size(); ++next) {
            rest = masks_[next].take(rest);
        }
        body_ += rest;
    }
    error_ = std::move(error);
    notify_locked();
}

std::optional<std::string> HttpFlow::next_upload(std::size_t max) {
    const std::lock_guard guard(mutex_);
    std::string out = upload_.substr(upload_begin_, max);
    if (out.empty() && !upload_last_) {
        upload_starved_ = true;
        return std::nullopt;
    }
    upload_begin_ += out.size();
    if (!keeps_upload_) {
        upload_.erase(0, std::exchange(upload_begin_, 0));
        notify_locked();
    }
    return out;
}

bool HttpFlow::rewind_upload() {
    const std::lock_guard guard(mutex_);
    upload_begin_ = 0;
    return keeps_upload_;
}

bool HttpFlow::is_paused() const {
    const std::lock_guard guard(mutex_);
    return paused_;
}

bool HttpFlow::is_cancelled() const {
    const std::lock_guard guard(mutex_);
    return cancelled_;
}

}  // namespace daybook
